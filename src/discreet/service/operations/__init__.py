"""What members can do, without HTTP."""
