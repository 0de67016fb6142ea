"""A job whose state is as large as one likes: the last row of each of so many keys, drawn by chance, with checkpoints."""

JOB = """SET 'rowtide.stats.conflicts' = 'false';
SET 'rowtide.datagen.seed.draws' = '42';
SET 'execution.checkpointing.interval' = '{interval}';
CREATE TABLE draws (id BIGINT, price BIGINT, name STRING, pt AS PROCTIME())
  WITH ('connector' = 'datagen', 'rows-per-second' = '1000000000', 'number-of-rows' = '{rows}',
        'fields.id.min' = '1', 'fields.id.max' = '{keys}', 'fields.name.length' = '{letters}');
CREATE TABLE changes (id BIGINT, price BIGINT, name STRING) WITH ('connector' = 'blackhole');
INSERT INTO changes SELECT id, price, name
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY pt DESC) AS n FROM draws) WHERE n = 1;
"""


def draws(rows, keys, letters, interval, settings=""):
    """Its SQL; `letters`: of the text that each row has."""
    return settings + JOB.format(rows=rows, keys=keys, letters=letters, interval=interval)
