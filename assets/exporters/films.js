// The clips lie in the document as text, each under its key. One is made into a film when it is first shown.
"use strict";
const films = (() => {
  const stores = new Map([...document.querySelectorAll("script[data-clip]")].map((store) => [store.dataset.clip, store]));
  const addresses = new Map();

  function addressOf(key) {
    if (!addresses.has(key)) {
      const text = atob(stores.get(key).textContent);
      const bytes = new Uint8Array(text.length);
      for (let n = 0; n < text.length; n += 1) bytes[n] = text.charCodeAt(n);
      addresses.set(key, URL.createObjectURL(new Blob([bytes], { type: "video/mp4" })));
      stores.get(key).remove();
    }
    return addresses.get(key);
  }

  // A video that calls `shown` as soon as its first frame can be seen, or `failed` if it will not play.
  function film(key, shown, failed) {
    const video = document.createElement("video");
    video.muted = true;
    video.playsInline = true;
    video.disablePictureInPicture = true;
    video.preload = "auto";
    if (video.requestVideoFrameCallback) video.requestVideoFrameCallback(() => shown(video));
    else video.addEventListener("playing", () => shown(video), { once: true });
    video.addEventListener("error", () => failed(video), { once: true });
    video.src = addressOf(key);
    return video;
  }

  return { film };
})();
