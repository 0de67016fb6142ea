-- Nexmark q18 out of JSON: the last bid of each bidder on each auction.
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
) WITH ('connector' = 'filesystem', 'path' = 'build/bench/bids-2000000-42.json', 'format' = 'json');

CREATE TABLE changes (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  url STRING,
  `dateTime` TIMESTAMP(3),
  extra STRING
) WITH ('connector' = 'checksum');

INSERT INTO changes
SELECT auction, bidder, price, channel, url, `dateTime`, extra
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS row_num
  FROM bids
)
WHERE row_num <= 1;
