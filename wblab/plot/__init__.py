"""Pictures: `plot_x(data, *, ax=None) -> ax`, and figures composed of such panes."""
