// Steps through the states. A state's clip plays into its picture and stops on it; until the clip's first frame is
// there, the picture before stays, so nothing flashes. All words are in the document; there are none here.
(() => {
  const root = document.documentElement;
  const editions = [...document.querySelectorAll(".edition")];
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const asked = new URLSearchParams(location.search);

  let edition = editions[0];
  let step = 0;
  let film = null;
  let turn = 0; // counts what was asked for, so that a clip that is ready too late does not show

  const states = () => [...edition.querySelectorAll(".state")];
  const find = (selector) => edition.querySelector(selector);

  function go(number, moving) {
    const all = states();
    step = Math.min(Math.max(number, 0), all.length - 1);
    const state = all[step];
    turn += 1;
    film?.pause();
    describe(state, all);
    if (moving) play(state, turn);
    else settle(state, null);
  }

  function play(state, mine) {
    const clips = JSON.parse(state.dataset.clips);
    const fail = () => mine === turn && settle(state, null); // also where nothing may start by itself
    const shown = (video) => (mine === turn ? settle(state, video) : video.remove());
    const next = films.film(clips[root.dataset.theme] ?? clips[""], shown, fail);
    for (const event of ["play", "pause", "ended"]) next.addEventListener(event, () => next === film && tell());
    find(".screen").append(next);
    next.play().catch(fail);
  }

  function settle(state, next) {
    for (const other of document.querySelectorAll(".screen video")) if (other !== next) other.remove();
    for (const other of states()) other.classList.toggle("current", other === state);
    film = next;
    tell();
    measure();
  }

  function describe(state, all) {
    for (const link of edition.querySelectorAll(".steps li a")) {
      if (link.dataset.address === state.dataset.address) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    }
    for (const other of all) other.classList.toggle("told", other === state);
    for (const part of edition.querySelectorAll("[data-exhibit]:not(.state)")) {
      part.classList.toggle("away", part.dataset.exhibit !== state.dataset.exhibit);
    }
    const heading = [...edition.querySelectorAll("h1")].find((title) => title.dataset.exhibit === state.dataset.exhibit);
    document.title = heading.textContent;
    find(".previous").disabled = step === 0;
    find(".next").disabled = step === all.length - 1;
    const [name, caption] = [state.dataset.name, state.querySelector(".words").dataset.said];
    find(".said").textContent = `${name}. ${caption}`;
    const here = `#${encodeURIComponent(state.dataset.address).replaceAll("%2F", "/")}`;
    if (location.hash !== here) history.replaceState(null, "", here);
  }

  function tell() {
    const now = film && !film.ended ? (film.paused ? "paused" : "playing") : calm.matches && !film ? "paused" : "ended";
    const words = { paused: "play", playing: "pause", ended: "replay" };
    find(".controls").dataset.now = now;
    find(".toggle .label").textContent = edition.dataset[words[now]];
  }

  function measure() {
    const share = film && !film.ended && film.duration ? film.currentTime / film.duration : 0;
    find(".progress span").style.transform = `scaleX(${share})`;
    if (film && !film.ended) requestAnimationFrame(measure);
  }

  const forward = () => step < states().length - 1 && go(step + 1, !calm.matches);
  const back = () => step > 0 && go(step - 1, false);

  function toggle() {
    if (!film || film.ended) go(step, true);
    else if (film.paused) film.play();
    else film.pause();
  }

  function numberOf(address) {
    const all = states();
    const exact = all.findIndex((state) => state.dataset.address === address);
    return exact >= 0 ? exact : all.findIndex((state) => state.dataset.name === address);
  }

  function fromAddress() {
    let wanted = location.hash.slice(1);
    try {
      wanted = decodeURIComponent(wanted);
    } catch {
      wanted = "";
    }
    return Math.max(numberOf(wanted), 0);
  }

  function choose(language) {
    const chosen = editions.find((other) => other.lang === language);
    if (!chosen) return;
    edition = chosen;
    for (const other of editions) other.hidden = other !== chosen;
    root.lang = language;
  }

  function paint(theme) {
    root.dataset.theme = theme;
    for (const button of document.querySelectorAll("[data-choose]")) {
      button.setAttribute("aria-pressed", String(button.dataset.choose === theme));
    }
  }

  // What was chosen stays in the address, so that the page comes back as it was.
  const keep = () => history.replaceState(null, "", `?lang=${root.lang}&theme=${root.dataset.theme}${location.hash}`);

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input, select, textarea, [tabindex]")) return;
    if (event.key === " " && event.target.closest("button, summary, a")) return;
    const act = {
      ArrowRight: forward,
      ArrowLeft: back,
      PageDown: forward,
      PageUp: back,
      Home: () => go(0, false),
      End: () => go(states().length - 1, false),
      " ": event.shiftKey ? back : forward,
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  for (const each of editions) {
    const player = each.querySelector(".player");
    let start = null;
    let swiped = false;
    player.addEventListener("touchstart", (event) => {
      start = event.touches.length === 1 && event.target.closest(".picture, .screen, .words") ? event.touches[0] : null;
      swiped = false;
    }, { passive: true });
    player.addEventListener("touchend", (event) => {
      const [x, y] = start ? ["clientX", "clientY"].map((axis) => event.changedTouches[0][axis] - start[axis]) : [0, 0];
      start = null;
      if (Math.abs(x) < 40 || Math.abs(x) < 2 * Math.abs(y)) return;
      swiped = true;
      if (x < 0) forward();
      else back();
    });
    player.addEventListener("click", (event) => {
      if (event.target.closest(".picture, .screen") && !swiped) forward();
    });
    each.querySelector(".previous").addEventListener("click", back);
    each.querySelector(".next").addEventListener("click", forward);
    each.querySelector(".toggle").addEventListener("click", toggle);
    const full = each.querySelector(".fullscreen");
    full.hidden = !document.fullscreenEnabled;
    full.addEventListener("click", () => (document.fullscreenElement ? document.exitFullscreen() : player.requestFullscreen()));
    for (const link of each.querySelectorAll(".steps a")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        go(numberOf(link.dataset.address), !calm.matches);
      });
    }
  }
  for (const button of document.querySelectorAll("[data-language]")) {
    button.addEventListener("click", () => {
      choose(button.dataset.language);
      keep();
      go(step, false);
      find(`[data-language="${button.dataset.language}"]`).focus();
    });
  }
  for (const button of document.querySelectorAll("[data-choose]")) {
    button.addEventListener("click", () => {
      paint(button.dataset.choose);
      keep();
      go(step, false);
    });
  }
  addEventListener("hashchange", () => go(fromAddress(), !calm.matches));
  calm.addEventListener("change", () => calm.matches && go(step, false));
  addEventListener("beforeprint", () => {
    for (const panel of document.querySelectorAll(".details, .panel:not(.transcript)")) {
      panel.dataset.was = panel.open ? "open" : "";
      panel.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const panel of document.querySelectorAll("[data-was]")) panel.open = panel.dataset.was === "open";
  });

  const spoken = navigator.languages.map((language) => language.split("-")[0]);
  choose([asked.get("lang"), ...spoken, editions[0].lang].find((language) => editions.some((other) => other.lang === language)));
  const rendered = root.dataset.themes.split(" ");
  const liked = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
  const wanted = asked.get("theme");
  paint(["dark", "light"].includes(wanted) ? wanted : rendered.includes(liked) ? liked : rendered[0]);
  go(fromAddress(), !calm.matches);
})();
