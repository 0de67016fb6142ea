-- Nexmark q18 into a sink with a key: new keys and their later rows, no -U.
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
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  url STRING,
  `dateTime` TIMESTAMP(3),
  extra STRING,
  PRIMARY KEY (bidder, auction) NOT ENFORCED
) WITH ('connector' = 'checksum', 'changelog-mode' = 'I,UA,D');

INSERT INTO changes
SELECT auction, bidder, price, channel, url, `dateTime`, extra
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS row_num
  FROM bids
)
WHERE row_num <= 1;
