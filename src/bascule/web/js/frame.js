/** What every sandboxed frame does: it gives the shell a port, takes messages from it by type, and shows its theme. */

/** A channel to the shell. What is sent before `listen` waits in it. */
export function shellPort() {
  const { port1: port, port2: shells } = new MessageChannel();
  return {
    /**
     * @param {import('./frame_messages.d.ts').FromFrame} message
     * @param {Transferable[]} [moved]
     */
    tell: (message, moved = []) => port.postMessage(message, moved),
    /**
     * Says that this frame is ready, and hands the other end of the channel over.
     * @template {{type: string}} Message
     * @param {import('./frame_messages.d.ts').Handlers<Message>} handlers by the message's type
     */
    listen(handlers) {
      /** @type {Map<string, (message: never) => void>} */
      const known = new Map(Object.entries(handlers));
      port.onmessage = ({ data }) => known.get(data?.type)?.(/** @type {never} */ (data));
      // The shell has this frame's own address; only it can be the parent (frame-ancestors), and only it gets the port.
      parent.postMessage({ type: 'ready' }, new URL(location.href).origin, [shells]);
    },
  };
}

/** The theme the shell wrote into this frame's address. */
export const firstTheme = () => location.hash.slice(1);

/** @param {string} theme `dark`, `light`, or anything else for the system's own */
export function setTheme(theme) {
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}
