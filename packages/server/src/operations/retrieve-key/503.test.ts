import { testAwayPostgres } from "../../../test/use-replicas.ts";

testAwayPostgres("/key");
