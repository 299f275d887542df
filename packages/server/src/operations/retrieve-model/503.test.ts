import { testAwayPostgres } from "../../../test/use-replicas.ts";

testAwayPostgres("/models/vendor/model-1");
