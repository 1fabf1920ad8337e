BEGIN TRANSACTION;
CREATE TABLE outbox_alerts (
	number INTEGER NOT NULL, 
	head BIGINT NOT NULL, 
	batch BIGINT NOT NULL, 
	rule_number INTEGER NOT NULL, 
	time BIGINT NOT NULL, 
	"key" TEXT NOT NULL, 
	body TEXT NOT NULL, 
	recorded_at BIGINT NOT NULL, 
	id VARCHAR(64) GENERATED ALWAYS AS (substr(body, 8, 64)), 
	PRIMARY KEY (number), 
	UNIQUE (head)
);
INSERT INTO "outbox_alerts" VALUES(1,3407434158874371148,0,1,0,'{"card_id":"a"}','{"id":"bd268d41acf49133f55eefe0eb9f6e6f960d548db96390d8d22f874f16068e72","pack":"fraud","revision":"r1","rule":"card_testing","kind":"match","severity":"high","time":"1970-01-01T00:00:00Z","key":{"card_id":"a"},"summary":"3 probes, then 900 in NG","emit":{"n":1},"events":{"probe":["p1"]},"tags":["t"],"runbook":null,"suppressed":0}',5000);
INSERT INTO "outbox_alerts" VALUES(2,387044126368852180,0,2,2000000000,'{"card_id":"b"}','{"id":"157c3a544277a358b6fd8e7f83dec844b1688a2c087483ef499a291aff47e786","pack":"fraud","revision":"r1","rule":"plain","kind":"match","severity":"high","time":"1970-01-01T00:00:02Z","key":{"card_id":"b"},"summary":"3 probes, then 900 in NG","emit":{"n":3},"events":{"probe":["p3"]},"tags":["t"],"runbook":null,"suppressed":0}',5000);
INSERT INTO "outbox_alerts" VALUES(3,1897382993089106092,1,1,51000000000,'{"card_id":"c"}','{"id":"69536f1e27c642bd217182c4445ed5ddf131465128ddf4e9f61a86bebae52ee7","pack":"fraud","revision":"r1","rule":"card_testing","kind":"match","severity":"high","time":"1970-01-01T00:00:51Z","key":{"card_id":"c"},"summary":"3 probes, then 900 in NG","emit":{"n":5},"events":{"probe":["p5"]},"tags":["t"],"runbook":null,"suppressed":0}',5000);
CREATE TABLE outbox_batches (
	number INTEGER NOT NULL, 
	digest VARCHAR(128) NOT NULL, 
	result TEXT NOT NULL, 
	recorded_at BIGINT NOT NULL, 
	PRIMARY KEY (number)
);
INSERT INTO "outbox_batches" VALUES(0,'digest 0','{"watermark": 0}',5000);
INSERT INTO "outbox_batches" VALUES(1,'digest 1','{"watermark": 1}',5000);
CREATE TABLE outbox_by_key (
	"key" TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	PRIMARY KEY ("key", number)
)
 WITHOUT ROWID

;
INSERT INTO "outbox_by_key" VALUES('{"card_id":"a"}',1);
INSERT INTO "outbox_by_key" VALUES('{"card_id":"b"}',2);
INSERT INTO "outbox_by_key" VALUES('{"card_id":"c"}',3);
CREATE TABLE outbox_by_rule (
	rule_number INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	PRIMARY KEY (rule_number, number)
)
 WITHOUT ROWID

;
INSERT INTO "outbox_by_rule" VALUES(1,1);
INSERT INTO "outbox_by_rule" VALUES(1,3);
INSERT INTO "outbox_by_rule" VALUES(2,2);
CREATE TABLE outbox_deliveries (
	receiver VARCHAR(200) NOT NULL, 
	alert INTEGER NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	attempts INTEGER NOT NULL, 
	due_at BIGINT, 
	settled_at BIGINT, 
	outcome TEXT NOT NULL, 
	PRIMARY KEY (receiver, alert), 
	FOREIGN KEY(alert) REFERENCES outbox_alerts (number)
)
 WITHOUT ROWID

;
INSERT INTO "outbox_deliveries" VALUES('desk',1,'pending',0,5000,NULL,'');
INSERT INTO "outbox_deliveries" VALUES('desk',2,'pending',0,5000,NULL,'');
INSERT INTO "outbox_deliveries" VALUES('desk',3,'pending',0,5000,NULL,'');
CREATE TABLE outbox_indexed (
	number INTEGER NOT NULL
);
INSERT INTO "outbox_indexed" VALUES(3);
CREATE TABLE outbox_rules (
	number INTEGER NOT NULL, 
	pack TEXT NOT NULL, 
	rule TEXT NOT NULL, 
	severity VARCHAR(16) NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (pack, rule, severity)
);
INSERT INTO "outbox_rules" VALUES(1,'fraud','card_testing','high');
INSERT INTO "outbox_rules" VALUES(2,'fraud','plain','high');
CREATE TABLE outbox_suppression (
	pack TEXT NOT NULL, 
	rule TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	since BIGINT NOT NULL, 
	until BIGINT NOT NULL, 
	pending INTEGER NOT NULL, 
	PRIMARY KEY (pack, rule, "key")
)
 WITHOUT ROWID

;
INSERT INTO "outbox_suppression" VALUES('fraud','card_testing','a',0,100000000000,3);
INSERT INTO "outbox_suppression" VALUES('fraud','card_testing','c',51000000000,61000000000,0);
CREATE TABLE outbox_version (
	version INTEGER NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "outbox_version" VALUES(3);
CREATE TABLE outbox_withheld (
	id VARCHAR(64) NOT NULL, 
	again BIGINT NOT NULL, 
	PRIMARY KEY (id)
)
 WITHOUT ROWID

;
INSERT INTO "outbox_withheld" VALUES('4e42fa976f18481ca4d9966ae161522cb65d8af6784204f927e5a23ae69b4c92',60000000000);
INSERT INTO "outbox_withheld" VALUES('6fd31ff271cdb096bcf294c45d845e711676c31a830d66d1a92ab1eb2806cb1a',90000000000);
CREATE INDEX outbox_suppression_over ON outbox_suppression (pending, until);
CREATE INDEX ix_outbox_withheld_again ON outbox_withheld (again);
CREATE INDEX outbox_deliveries_failed ON outbox_deliveries (receiver, state) WHERE state = 'failed';
CREATE INDEX outbox_deliveries_due ON outbox_deliveries (receiver, due_at, alert) WHERE due_at IS NOT NULL;
COMMIT;
