BEGIN TRANSACTION;
CREATE TABLE entries (
	state_id TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	commands TEXT NOT NULL, 
	touched TEXT NOT NULL, 
	state TEXT NOT NULL, 
	speaker TEXT, 
	actor TEXT NOT NULL, 
	"key" TEXT, 
	body TEXT, 
	fence BIGINT NOT NULL, 
	schema INTEGER NOT NULL, 
	owner TEXT NOT NULL, 
	at TEXT NOT NULL, 
	checksum TEXT NOT NULL, 
	PRIMARY KEY (state_id, version), 
	UNIQUE (state_id, "key"), 
	FOREIGN KEY(state_id) REFERENCES states (state_id)
);
INSERT INTO "entries" VALUES('t624-2wfu-8a72',1,'[{"op":"hand_over","source":"greeter","target":"order_taker"}]','[]','{"order_id":"t624-2wfu-8a72","order_number":"101","restaurant_id":"bella-vista","menu_version":"f78c38c1fe7f","channel":"terminal","currency":"USD","terms":{"tax_mode":"added","tax_rounding":"per_rate","tax_rates":{"food":"8.875","alcohol":"8.875","groceries":"0"},"tip_base":"subtotal"},"opened_at":"2026-11-20T19:00:02.095508-05:00","stage":"open","customer_name":null,"phone":null,"email":null,"order_items":[],"lines_given":0,"fulfilment":null,"coupons":[],"tip":null,"payment_method":null,"notes":[],"allergies":[],"gone":[],"feedback_rating":null,"feedback_comment":null,"person_wanted":false,"person_reason":null,"ended_reason":null,"times":{}}','order_taker','greeter',NULL,NULL,1,1,'bella-vista','2026-11-22T11:48:36.720837+00:00','1d8b08007856048b5af71e7a9552bb89');
INSERT INTO "entries" VALUES('t624-2wfu-8a72',2,'[{"op":"add_item","name":"Family pizza night","quantity":1,"modifications":[],"parts":[{"name":"Margherita","size":"small","modifications":[],"quantity":1},{"name":"Margherita","size":"small","modifications":[],"quantity":1},{"name":"Garlic knots","size":null,"modifications":[],"quantity":1},{"name":"House salad","size":null,"modifications":[],"quantity":1},{"name":"Cola","size":null,"modifications":[],"quantity":1},{"name":"Cola","size":null,"modifications":[],"quantity":1},{"name":"Cola","size":null,"modifications":[],"quantity":1},{"name":"Cola","size":null,"modifications":[],"quantity":1}]}]','["lines/L1"]','{"order_id":"t624-2wfu-8a72","order_number":"101","restaurant_id":"bella-vista","menu_version":"f78c38c1fe7f","channel":"terminal","currency":"USD","terms":{"tax_mode":"added","tax_rounding":"per_rate","tax_rates":{"food":"8.875","alcohol":"8.875","groceries":"0"},"tip_base":"subtotal"},"opened_at":"2026-11-20T19:00:02.095508-05:00","stage":"open","customer_name":null,"phone":null,"email":null,"order_items":[{"id":"L1","name":"Family pizza night","size":null,"quantity":1,"chosen":[],"parts":[{"name":"Margherita","size":"small","chosen":[],"surcharge":0},{"name":"Margherita","size":"small","chosen":[],"surcharge":0},{"name":"Garlic knots","size":null,"chosen":[],"surcharge":0},{"name":"House salad","size":"large","chosen":[],"surcharge":0},{"name":"Cola","size":"can","chosen":[],"surcharge":0},{"name":"Cola","size":"can","chosen":[],"surcharge":0},{"name":"Cola","size":"can","chosen":[],"surcharge":0},{"name":"Cola","size":"can","chosen":[],"surcharge":0}],"note":null,"base_price":5200,"taxes":[{"rate":"food","weight":5600}],"minimum_age":null}],"lines_given":1,"fulfilment":null,"coupons":[],"tip":null,"payment_method":null,"notes":[],"allergies":[],"gone":[],"feedback_rating":null,"feedback_comment":null,"person_wanted":false,"person_reason":null,"ended_reason":null,"times":{"lines/L1":{"created_at":"2026-11-20T19:00:03.021628-05:00","updated_at":"2026-11-20T19:00:03.021628-05:00"}}}','order_taker','order_taker',NULL,NULL,1,1,'bella-vista','2026-11-22T11:48:37.412470+00:00','fe9fd1af953244380455da1c58a8e989');
INSERT INTO "entries" VALUES('t624-2wfu-8a72',3,'[{"op":"add_allergy","name":"walnuts"}]','["allergies"]','{"order_id":"t624-2wfu-8a72","order_number":"101","restaurant_id":"bella-vista","menu_version":"f78c38c1fe7f","channel":"terminal","currency":"USD","terms":{"tax_mode":"added","tax_rounding":"per_rate","tax_rates":{"food":"8.875","alcohol":"8.875","groceries":"0"},"tip_base":"subtotal"},"opened_at":"2026-11-20T19:00:02.095508-05:00","stage":"open","customer_name":null,"phone":null,"email":null,"order_items":[{"id":"L1","name":"Family pizza night","size":null,"quantity":1,"chosen":[],"parts":[{"name":"Margherita","size":"small","chosen":[],"surcharge":0},{"name":"Margherita","size":"small","chosen":[],"surcharge":0},{"name":"Garlic knots","size":null,"chosen":[],"surcharge":0},{"name":"House salad","size":"large","chosen":[],"surcharge":0},{"name":"Cola","size":"can","chosen":[],"surcharge":0},{"name":"Cola","size":"can","chosen":[],"surcharge":0},{"name":"Cola","size":"can","chosen":[],"surcharge":0},{"name":"Cola","size":"can","chosen":[],"surcharge":0}],"note":null,"base_price":5200,"taxes":[{"rate":"food","weight":5600}],"minimum_age":null}],"lines_given":1,"fulfilment":null,"coupons":[],"tip":null,"payment_method":null,"notes":[],"allergies":["walnuts"],"gone":[],"feedback_rating":null,"feedback_comment":null,"person_wanted":false,"person_reason":null,"ended_reason":null,"times":{"lines/L1":{"created_at":"2026-11-20T19:00:03.021628-05:00","updated_at":"2026-11-20T19:00:03.021628-05:00"}}}','order_taker','order_taker',NULL,NULL,1,1,'bella-vista','2026-11-22T11:48:37.476303+00:00','0191a84b5c01bcc2ef464318c59568be');
INSERT INTO "entries" VALUES('t624-2wfu-8a72',4,'[{"op":"add_item","name":"Tiramisu","quantity":2,"modifications":[]}]','["lines/L2"]','{"order_id":"t624-2wfu-8a72","order_number":"101","restaurant_id":"bella-vista","menu_version":"f78c38c1fe7f","channel":"terminal","currency":"USD","terms":{"tax_mode":"added","tax_rounding":"per_rate","tax_rates":{"food":"8.875","alcohol":"8.875","groceries":"0"},"tip_base":"subtotal"},"opened_at":"2026-11-20T19:00:02.095508-05:00","stage":"open","customer_name":null,"phone":null,"email":null,"order_items":[{"id":"L1","name":"Family pizza night","size":null,"quantity":1,"chosen":[],"parts":[{"name":"Margherita","size":"small","chosen":[],"surcharge":0},{"name":"Margherita","size":"small","chosen":[],"surcharge":0},{"name":"Garlic knots","size":null,"chosen":[],"surcharge":0},{"name":"House salad","size":"large","chosen":[],"surcharge":0},{"name":"Cola","size":"can","chosen":[],"surcharge":0},{"name":"Cola","size":"can","chosen":[],"surcharge":0},{"name":"Cola","size":"can","chosen":[],"surcharge":0},{"name":"Cola","size":"can","chosen":[],"surcharge":0}],"note":null,"base_price":5200,"taxes":[{"rate":"food","weight":5600}],"minimum_age":null},{"id":"L2","name":"Tiramisu","size":null,"quantity":2,"chosen":[],"parts":[],"note":null,"base_price":900,"taxes":[{"rate":"food","weight":1}],"minimum_age":null}],"lines_given":2,"fulfilment":null,"coupons":[],"tip":null,"payment_method":null,"notes":[],"allergies":["walnuts"],"gone":[],"feedback_rating":null,"feedback_comment":null,"person_wanted":false,"person_reason":null,"ended_reason":null,"times":{"lines/L1":{"created_at":"2026-11-20T19:00:03.021628-05:00","updated_at":"2026-11-20T19:00:03.021628-05:00"},"lines/L2":{"created_at":"2026-11-20T19:00:03.166165-05:00","updated_at":"2026-11-20T19:00:03.166165-05:00"}}}','order_taker','order_taker',NULL,NULL,1,1,'bella-vista','2026-11-22T11:48:37.487711+00:00','f5e402b7f4ea7115f01516d032b1a20a');
CREATE TABLE journal_layout (
	layout INTEGER NOT NULL, 
	PRIMARY KEY (layout)
);
INSERT INTO "journal_layout" VALUES(1);
CREATE TABLE states (
	state_id TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	ordinal INTEGER NOT NULL, 
	schema INTEGER NOT NULL, 
	fence BIGINT NOT NULL, 
	opened_at TEXT NOT NULL, 
	state TEXT NOT NULL, 
	speaker TEXT, 
	checksum TEXT NOT NULL, 
	PRIMARY KEY (state_id), 
	UNIQUE (owner, ordinal)
);
INSERT INTO "states" VALUES('t624-2wfu-8a72','bella-vista',1,1,1,'2026-11-22T11:48:36.416231+00:00','{"order_id":"t624-2wfu-8a72","order_number":"101","restaurant_id":"bella-vista","menu_version":"f78c38c1fe7f","channel":"terminal","currency":"USD","terms":{"tax_mode":"added","tax_rounding":"per_rate","tax_rates":{"food":"8.875","alcohol":"8.875","groceries":"0"},"tip_base":"subtotal"},"opened_at":"2026-11-20T19:00:02.095508-05:00","stage":"open","customer_name":null,"phone":null,"email":null,"order_items":[],"lines_given":0,"fulfilment":null,"coupons":[],"tip":null,"payment_method":null,"notes":[],"allergies":[],"gone":[],"feedback_rating":null,"feedback_comment":null,"person_wanted":false,"person_reason":null,"ended_reason":null,"times":{}}','greeter','699774dd6dd31dd446e5a02029fbce4d');
COMMIT;
