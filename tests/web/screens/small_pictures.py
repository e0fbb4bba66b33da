"""Makes pictures small: at most 256 colours in a palette, packed by the browser that took them."""

import base64

from playwright.async_api import Page

# The most frequent colours that differ are kept; any other becomes the nearest of them.
PACK = """async (given) => {
  const bytes = Uint8Array.from(atob(given), (one) => one.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const { width, height } = image;
  const canvas = new OffscreenCanvas(width, height);
  const draw = canvas.getContext('2d');
  draw.drawImage(image, 0, 0);
  const pixels = new Uint32Array(draw.getImageData(0, 0, width, height).data.buffer);
  const count = new Map();
  for (const one of pixels) count.set(one, (count.get(one) ?? 0) + 1);
  const parts = (one) => [one & 255, (one >> 8) & 255, (one >> 16) & 255];
  const kept = [], palette = [];
  for (const [one] of [...count].sort((a, b) => b[1] - a[1])) {
    if (kept.length === 256) break;
    const [r, g, b] = parts(one);
    // The first are flat areas, which stay exactly as they are.
    const near = ([pr, pg, pb]) => (r - pr) ** 2 + (g - pg) ** 2 + (b - pb) ** 2 < 120;
    if (kept.length > 24 && palette.some(near)) continue;
    kept.push(one);
    palette.push(parts(one));
  }
  const index = new Map(kept.map((one, n) => [one, n]));
  const nearest = (one) => {
    const [r, g, b] = parts(one);
    let best = 0, least = Infinity;
    palette.forEach(([pr, pg, pb], n) => {
      const far = (r - pr) ** 2 + (g - pg) ** 2 + (b - pb) ** 2;
      if (far < least) { least = far; best = n; }
    });
    index.set(one, best);
    return best;
  };
  const rows = new Uint8Array((width + 1) * height);
  for (let y = 0, at = 0; y < height; y++) {
    at++;
    for (let x = 0; x < width; x++) {
      const one = pixels[y * width + x];
      rows[at++] = index.get(one) ?? nearest(one);
    }
  }
  const packed = new Blob([rows]).stream().pipeThrough(new CompressionStream('deflate'));
  const data = new Uint8Array(await new Response(packed).arrayBuffer());
  const table = Uint32Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n;
  });
  const chunk = (name, body) => {
    const out = new Uint8Array(12 + body.length), view = new DataView(out.buffer);
    view.setUint32(0, body.length);
    out.set([...name].map((one) => one.charCodeAt(0)), 4);
    out.set(body, 8);
    let crc = -1;
    for (const one of out.subarray(4, 8 + body.length)) crc = table[(crc ^ one) & 255] ^ (crc >>> 8);
    view.setUint32(8 + body.length, ~crc >>> 0);
    return out;
  };
  const head = new Uint8Array(13), view = new DataView(head.buffer);
  view.setUint32(0, width); view.setUint32(4, height); head.set([8, 3, 0, 0, 0], 8);
  const whole = new Blob([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', head),
    chunk('PLTE', new Uint8Array(palette.flat())), chunk('IDAT', data), chunk('IEND', new Uint8Array())]);
  const url = await new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(whole);
  });
  return url.split(',')[1];
}"""


async def small(page: Page, picture: bytes) -> bytes:
    """The same picture as a palette PNG. `page` is any page that is about nothing else."""
    return base64.b64decode(await page.evaluate(PACK, base64.b64encode(picture).decode()))
