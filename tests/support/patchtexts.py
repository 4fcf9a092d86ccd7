"""Patches of a tree with one file, hello.c, that says 0: to 1, and then to 2."""

PATCH = """\
--- a/hello.c
+++ b/hello.c
@@ -1,3 +1,3 @@
 int main(void)
-{ return 0; }
+{ return 1; }
 /* end */
"""
SECOND = PATCH.replace("0; }", "1; }").replace("+{ return 1; }", "+{ return 2; }")
