-- Claim, start, settle and enqueue run for every batch of jobs, so they are functions: a session
-- plans each of them once, where planning a statement every time would take as long as running it.
-- A function needs no named statement, which poolers do not support. The settings of a function
-- apply while it runs. They fix the plans: statistics are of no use for tables that are filled and
-- emptied by the second, so rows are found by index and in the order of the index.

-- include: functions/*.sql

-- include: surface/*.sql

-- include: rights/*.sql

-- include: policies/*.sql
