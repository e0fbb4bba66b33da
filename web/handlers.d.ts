// What a handler of an element is given: `currentTarget` is the element it was set on.
type On<T extends HTMLElement = HTMLElement, E extends Event = Event> = E & { readonly currentTarget: T };
