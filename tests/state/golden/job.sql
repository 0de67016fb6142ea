SET 'execution.checkpointing.interval' = '50 ms';
CREATE TABLE e (id STRING, st STRING, n INT, price DECIMAL(10, 2), w DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'csv', 'source.monitor-interval' = '10 ms', 'csv.null-literal' = '', 'scan.watermark.emit.strategy' = 'on-event');
CREATE TABLE firsts (id STRING, st STRING, n INT) WITH ('connector' = 'print', 'print-identifier' = 'firsts');
CREATE TABLE lasts (id STRING, st STRING, price DECIMAL(10, 2)) WITH ('connector' = 'print', 'print-identifier' = 'lasts');
CREATE TABLE best (st STRING, id STRING, n INT, place BIGINT) WITH ('connector' = 'print', 'print-identifier' = 'best');
CREATE TABLE sums (st STRING, c BIGINT, p DECIMAL(38, 2), a DOUBLE, low INT, high STRING, ids BIGINT) WITH ('connector' = 'print', 'print-identifier' = 'sums');
CREATE TABLE numbered (st STRING, id STRING, nr BIGINT) WITH ('connector' = 'print', 'print-identifier' = 'numbered');
CREATE TABLE by_st (st STRING, id STRING, n INT, PRIMARY KEY (st) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 'by_st');
CREATE VIEW newest AS SELECT id, st, n, price, w FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) AS rn FROM e) WHERE rn = 1;
EXECUTE STATEMENT SET BEGIN
INSERT INTO firsts SELECT id, st, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts) AS rn FROM e) WHERE rn = 1;
INSERT INTO lasts SELECT id, st, price FROM newest;
INSERT INTO best SELECT st, id, n, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY st ORDER BY n DESC, id) AS rn FROM e) WHERE rn <= 2;
INSERT INTO sums SELECT st, COUNT(*), SUM(price), AVG(w), MIN(n), MAX(id), COUNT(DISTINCT id) FROM newest GROUP BY st;
INSERT INTO numbered SELECT st, id, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY st ORDER BY n) AS rn FROM newest);
INSERT INTO by_st SELECT st, id, n FROM newest WHERE st IS NOT NULL;
END;
