"""The loopback world: fake platforms in processes of their own, with journals that outlive ours."""
