"""PID 1 of the guest. Imports only the standard library and wblab.core."""
