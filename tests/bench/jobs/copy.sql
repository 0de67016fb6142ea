-- Nexmark q0: csv as it is, to standard output.
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

CREATE TABLE copied (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  url STRING,
  `dateTime` TIMESTAMP(3),
  extra STRING
) WITH ('connector' = 'filesystem', 'path' = '-', 'format' = 'csv');

INSERT INTO copied
SELECT auction, bidder, price, channel, url, `dateTime`, extra FROM bids;
