-- Per channel the prices of the bids that are the last of their bidder on their auction.
-- --stats is for the time alone: no counting of resends beside it.
SET 'rowtide.stats.conflicts' = 'false';

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
  channel STRING,
  bids BIGINT,
  total BIGINT,
  lowest BIGINT,
  highest BIGINT
) WITH ('connector' = 'checksum');

INSERT INTO changes
SELECT channel, COUNT(*), SUM(price), MIN(price), MAX(price)
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS row_num
  FROM bids
)
WHERE row_num <= 1
GROUP BY channel;
