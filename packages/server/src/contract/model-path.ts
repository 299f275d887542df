import type { RequestHandler } from "express";

const prefix = "/v1/models/";

/**
 * Model ids hold a slash, and clients send it raw as well as encoded. The validator matches the original URL, so both it
 * and the one that Express routes by are rewritten before either sees them.
 */
export const encodeModelPath: RequestHandler = function encodeModelPath(req, _res, next) {
  const [path = "", ...query] = req.originalUrl.split("?");
  const id = path.startsWith(prefix) ? path.slice(prefix.length) : "";
  if (id.includes("/") && !id.endsWith("/")) {
    const url = [`${prefix}${id.replaceAll("/", "%2F")}`, ...query].join("?");
    req.url = url;
    req.originalUrl = url;
  }
  next();
};
