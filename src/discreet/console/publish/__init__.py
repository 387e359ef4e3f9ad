"""The page Publish: six steps to a release."""
