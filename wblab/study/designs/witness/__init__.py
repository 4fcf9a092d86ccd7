"""The same spec on other substrates: does it stall there too?"""
