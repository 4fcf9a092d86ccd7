"""What the lab's files are called."""

PAGE = ".html"  # how the name of a page ends; of a picture, see wblab/plot/figure.py
