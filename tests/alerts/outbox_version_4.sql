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
INSERT INTO "outbox_alerts" VALUES(1,3407434158874371148,0,1,1000000000,'{"card_id":"a"}','{"id":"bd268d41acf49133f55eefe0eb9f6e6f960d548db96390d8d22f874f16068e72","pack":"fraud","revision":"r1","rule":"card_testing","kind":"match","severity":"high","time":"1970-01-01T00:00:01Z","key":{"card_id":"a"},"summary":"3 probes, then 900 in NG","emit":{"n":1},"events":{"probe":["p1"]},"tags":["t"],"runbook":null,"suppressed":0,"approximate":[]}',1600000000000000000);
INSERT INTO "outbox_alerts" VALUES(2,4331757998414434608,0,2,2000000000,'{"card_id":"b"}','{"id":"f075fbcbb1cc44c20d9143103f9ec65303efe726c70b27d14396e54e850c2d4d","pack":"fraud","revision":"r1","rule":"other","kind":"match","severity":"low","time":"1970-01-01T00:00:02Z","key":{"card_id":"b"},"summary":"3 probes, then 900 in NG","emit":{"n":2},"events":{"probe":["p2"]},"tags":["t"],"runbook":null,"suppressed":0,"approximate":[]}',1600000000000000000);
INSERT INTO "outbox_alerts" VALUES(3,122153380423462924,1,1,3000000000,'{"card_id":"a"}','{"id":"06c7e768c103c03ee075001ebaf6611ac5795c21770b60aaf4f9d98ba413eb0b","pack":"fraud","revision":"r1","rule":"card_testing","kind":"match","severity":"high","time":"1970-01-01T00:00:03Z","key":{"card_id":"a"},"summary":"3 probes, then 900 in NG","emit":{"n":3},"events":{"probe":["p3"]},"tags":["t"],"runbook":null,"suppressed":0,"approximate":[]}',1600000000000000000);
CREATE TABLE outbox_assigned (
	number INTEGER NOT NULL
);
INSERT INTO "outbox_assigned" VALUES(3);
CREATE TABLE outbox_batches (
	number INTEGER NOT NULL, 
	digest VARCHAR(128) NOT NULL, 
	result TEXT NOT NULL, 
	recorded_at BIGINT NOT NULL, 
	PRIMARY KEY (number)
);
INSERT INTO "outbox_batches" VALUES(0,'d0','{"watermark": 1}',1600000000000000000);
INSERT INTO "outbox_batches" VALUES(1,'d1','{"watermark": 2}',1600000000000000000);
CREATE TABLE outbox_by_key (
	"key" TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	PRIMARY KEY ("key", number)
)
 WITHOUT ROWID

;
INSERT INTO "outbox_by_key" VALUES('{"card_id":"a"}',1);
INSERT INTO "outbox_by_key" VALUES('{"card_id":"a"}',3);
INSERT INTO "outbox_by_key" VALUES('{"card_id":"b"}',2);
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
	way INTEGER, 
	held TEXT, 
	trace TEXT, 
	PRIMARY KEY (receiver, alert)
)
 WITHOUT ROWID

;
INSERT INTO "outbox_deliveries" VALUES('desk',1,'delivered',1,NULL,1600000001000000000,'204',1,NULL,NULL);
INSERT INTO "outbox_deliveries" VALUES('desk',3,'pending',1,1600000009000000000,1600000001000000000,'500',NULL,NULL,NULL);
INSERT INTO "outbox_deliveries" VALUES('pager',1,'pending',0,1600000000000000000,NULL,'',2,NULL,NULL);
INSERT INTO "outbox_deliveries" VALUES('pager',2,'pending',0,2000000000000000000,NULL,'',2,'silence s','1600000001000000000 mute: silence s of ann holds it back
');
CREATE TABLE outbox_episodes (
	first INTEGER NOT NULL, 
	slot BIGINT NOT NULL, 
	pack TEXT NOT NULL, 
	rule TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	last INTEGER NOT NULL, 
	alerts BIGINT NOT NULL, 
	began BIGINT NOT NULL, 
	ended BIGINT NOT NULL, 
	length BIGINT NOT NULL, 
	severity INTEGER NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	verdict VARCHAR(16), 
	note TEXT NOT NULL, 
	changed_by TEXT NOT NULL, 
	changed_at BIGINT, 
	PRIMARY KEY (first)
);
INSERT INTO "outbox_episodes" VALUES(1,-476007406518738300,'fraud','card_testing','{"card_id":"a"}',3,2,1000000000,3000000000,1000000000000,1,'open',NULL,'','',NULL);
INSERT INTO "outbox_episodes" VALUES(2,8457542748974073843,'fraud','other','{"card_id":"b"}',2,1,2000000000,2000000000,1000000000000,3,'open',NULL,'','',NULL);
CREATE TABLE outbox_indexed (
	number INTEGER NOT NULL
);
INSERT INTO "outbox_indexed" VALUES(3);
CREATE TABLE outbox_receivers (
	receiver VARCHAR(200) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	reason TEXT NOT NULL, 
	since_at BIGINT, 
	probe_at BIGINT, 
	failing_since_at BIGINT, 
	PRIMARY KEY (receiver)
)
 WITHOUT ROWID

;
CREATE TABLE outbox_rules (
	number INTEGER NOT NULL, 
	pack TEXT NOT NULL, 
	rule TEXT NOT NULL, 
	severity VARCHAR(16) NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (pack, rule, severity)
);
INSERT INTO "outbox_rules" VALUES(1,'fraud','card_testing','high');
INSERT INTO "outbox_rules" VALUES(2,'fraud','other','low');
CREATE TABLE outbox_silences (
	id VARCHAR(64) NOT NULL, 
	who TEXT NOT NULL, 
	why TEXT NOT NULL, 
	starts_at BIGINT NOT NULL, 
	ends_at BIGINT NOT NULL, 
	matchers TEXT NOT NULL, 
	expired_by TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "outbox_silences" VALUES('s','ann','noise',0,2000000000000000000,'["rule = other"]','');
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
INSERT INTO "outbox_suppression" VALUES('fraud','card_testing','a',3000000000,63000000000,0);
CREATE TABLE outbox_version (
	version INTEGER NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "outbox_version" VALUES(4);
CREATE TABLE outbox_ways (
	number INTEGER NOT NULL, 
	said TEXT NOT NULL, 
	PRIMARY KEY (number)
);
INSERT INTO "outbox_ways" VALUES(1,'route 1 of job.toml: severity = high');
INSERT INTO "outbox_ways" VALUES(2,'route 2 of job.toml: every alert');
CREATE TABLE outbox_withheld (
	id VARCHAR(64) NOT NULL, 
	again BIGINT NOT NULL, 
	PRIMARY KEY (id)
)
 WITHOUT ROWID

;
CREATE INDEX outbox_deliveries_held ON outbox_deliveries (held, receiver) WHERE held IS NOT NULL;
CREATE INDEX outbox_deliveries_failed ON outbox_deliveries (receiver, state) WHERE state = 'failed';
CREATE INDEX outbox_deliveries_due ON outbox_deliveries (receiver, due_at, alert) WHERE due_at IS NOT NULL;
CREATE INDEX ix_outbox_silences_ends_at ON outbox_silences (ends_at);
CREATE INDEX outbox_episodes_slot ON outbox_episodes (slot, first);
CREATE INDEX outbox_episodes_state ON outbox_episodes (state, severity, first);
CREATE INDEX outbox_suppression_over ON outbox_suppression (pending, until);
CREATE INDEX ix_outbox_withheld_again ON outbox_withheld (again);
COMMIT;
