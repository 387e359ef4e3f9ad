"""Groups, sensitivities and the split of the price: what is measured, and with which noise."""
