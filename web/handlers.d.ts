// What a handler of an element is given: `currentTarget` is the element it was set on.
type On<T extends HTMLElement = HTMLElement, E extends Event = Event> = E & { readonly currentTarget: T };

// Trusted Types, which lib.dom does not know yet.
type TrustedTypesWindow = {
  trustedTypes?: {
    createPolicy(
      name: string,
      rules: { createHTML?: (text: string) => string; createScriptURL?: (url: string) => string },
    ): { createScriptURL(url: string): TrustedScriptURL };
  };
};
type TrustedScriptURL = string;
