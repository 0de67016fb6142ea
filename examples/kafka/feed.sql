-- The events of ../lab as messages: 622 of 240 orders, 41 of them sent twice.
CREATE TABLE file (order_id STRING, status STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'examples/lab/order_events.csv', 'format' = 'csv');

CREATE TABLE order_events (order_id STRING, status STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3)) WITH (
  'connector' = 'kafka',
  'topic' = 'order_events',
  'properties.bootstrap.servers' = '127.0.0.1:9092',
  'key.format' = 'raw',
  'key.fields' = 'order_id',
  'value.format' = 'json'
);

INSERT INTO order_events SELECT * FROM file;
