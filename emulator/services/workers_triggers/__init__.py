"""What makes Workers run beside routes and domains: workers.dev, schedules; and live logs."""
