/** The engine refuses this request and would refuse it again. The message may be shown to the caller. */
export class RequestRefused extends Error {}
