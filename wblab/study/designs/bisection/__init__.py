"""The commit that changed a figure: git's bisection, with kernels built and runs measured for each step."""
