"""Claims of works as executable checks: wblab verify."""
