import { testAwayPostgres } from "../../../test/use-replicas.ts";

testAwayPostgres("/usage/req_1", 404);
