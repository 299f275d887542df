import { expect, test } from "vitest";
import { miniId, modelId } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();

test.each([modelId, miniId])(
  "MODL-09 MODL-10 %s is exactly the object of the list, with any spelling of its slash",
  async (id) => {
    const { data } = (await (await server().fetch("/models")).json()) as { data: { id: string }[] };
    const record = data.find((one) => one.id === id);
    const spellings = [id, id.replace("/", "%2F"), id.replace("/", "%2f"), id.replace("model", "%6Dodel"), `${id}?a=%`];
    for (const path of spellings) {
      const response = await server().fetch(`/models/${path}`);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual(record);
    }
  },
);
