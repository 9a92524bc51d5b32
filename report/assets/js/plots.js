// plots
