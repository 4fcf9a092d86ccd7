"""Pictures: `plot_x(data, *, ax=None) -> ax`, and whole figures made of such panes."""
