-- The first event of each order, of all files that come into the folder, for as long as it runs:
-- rowtide run --state kept watch.sql. Killed and started again, it goes on where it was.
SET 'execution.checkpointing.interval' = '1 s';

CREATE TABLE order_events (
  order_id STRING,
  status STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'order_events*.csv', 'format' = 'csv', 'source.monitor-interval' = '200 ms',
  'scan.watermark.emit.strategy' = 'on-event');   -- otherwise a watermark comes after 1,024 rows, and rows wait for it

CREATE TABLE first_events (order_id STRING, status STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'watched/first_events', 'format' = 'csv');

INSERT INTO first_events
SELECT order_id, status, amount, ts
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY ts ASC) AS rn FROM order_events)
WHERE rn = 1;
