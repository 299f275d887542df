/** The same object with other methods: a small broken implementation, to show that a contract notices. */
export const override = <T extends object>(whole: T, methods: Partial<T>): T =>
  new Proxy(whole, {
    get(target, name) {
      const own: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name);
      return typeof own === "function" ? (own.bind(target) as unknown) : own; // private fields want their own `this`
    },
  });
