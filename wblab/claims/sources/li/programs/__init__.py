"""Programs that cases run in the guest as commands of loads: python3 -m wblab.claims.sources.li.programs.NAME."""
