"""Claims of A. Chadd's slides on disk I/O, and the programs that their runs need."""
