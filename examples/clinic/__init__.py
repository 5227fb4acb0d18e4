"""A dental clinic's front desk: four agents over one visit. The framework's second application."""
