"""Programs that the guests of lessons run. They import only the standard library and wblab.core."""
