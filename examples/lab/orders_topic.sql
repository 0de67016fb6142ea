-- Orders of a topic; what is no order is kept beside this file, to be put back (rowtide requeue).
SET 'rowtide.bad-data.orders' = 'dead-letter';
SET 'rowtide.dead-letter.orders' = 'orders_rejects.ndjson';

CREATE TABLE orders (order_id STRING, status STRING, amount DECIMAL(10, 2)) WITH (
  'connector' = 'kafka',
  'topic' = 'orders',
  'properties.bootstrap.servers' = '127.0.0.1:9092',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json'
);

SELECT status, SUM(amount) AS amount FROM orders GROUP BY status;
