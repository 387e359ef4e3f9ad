"""Adding up losses: composition, filters, odometers, calibration. It knows losses, never mechanisms by name."""
