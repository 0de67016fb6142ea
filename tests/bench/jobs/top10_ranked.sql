-- Nexmark q19: the ten highest bids of each auction, with their places.
CREATE TABLE bids (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  url STRING,
  `dateTime` TIMESTAMP(3),
  extra STRING,
  WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'build/bench/bids-2000000-42.csv', 'format' = 'csv');

CREATE TABLE changes (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  url STRING,
  `dateTime` TIMESTAMP(3),
  extra STRING,
  row_num BIGINT
) WITH ('connector' = 'checksum');

INSERT INTO changes
SELECT *
FROM (
  SELECT auction, bidder, price, channel, url, `dateTime`, extra,
    ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS row_num
  FROM bids
)
WHERE row_num <= 10;
