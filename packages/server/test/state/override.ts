/**
 * Returns an object with some methods replaced. Tests break an implementation with it, to show that the suite of its interface
 * notices.
 */
export const override = <T extends object>(whole: T, methods: Partial<T>): T =>
  new Proxy(whole, {
    get(target, name) {
      const own: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name);
      return typeof own === "function" ? (own.bind(target) as unknown) : own; // private fields need the original `this`
    },
  });
