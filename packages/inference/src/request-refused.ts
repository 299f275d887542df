/** The engine refuses this request and would refuse it again; the message is fit for a caller. */
export class RequestRefused extends Error {}
