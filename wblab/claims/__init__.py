"""The claims of the thesis as executable checks: wblab verify."""
