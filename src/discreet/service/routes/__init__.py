"""The routes of the service, thin: they read a request, call one operation and write what it says."""
