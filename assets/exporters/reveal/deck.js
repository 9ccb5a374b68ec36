// A slide's clip plays when the slide is reached from before, and stops on its picture. Going back shows the picture.
(() => {
  const root = document.documentElement;
  const slides = [...document.querySelectorAll(".slides > section")];
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const asked = new URLSearchParams(location.search);
  const printed = asked.has("print-pdf") || asked.get("view") === "print";
  let turn = 0;

  const faces = (slide) => [...slide.querySelectorAll(".face")];
  const chosen = (slide) => slide.querySelector(".face.chosen");

  // In each slide the face that fits best: in the language, then in the theme, else the first.
  function choose(language, theme) {
    root.lang = language;
    root.dataset.theme = theme;
    for (const slide of slides) {
      const fit = (face) => 2 * (face.lang === language) + (face.dataset.themeOf === theme);
      const best = faces(slide).reduce((best, face) => (fit(face) > fit(best) ? face : best));
      for (const face of faces(slide)) face.classList.toggle("chosen", face === best);
      slide.querySelector(".notes").innerHTML = best.querySelector(".says").innerHTML;
    }
    document.title = slides.map(chosen).find((face) => face.querySelector("h1")).querySelector("h1").textContent;
    for (const choice of document.querySelectorAll(".choices")) choice.classList.toggle("chosen", choice.lang === language);
    for (const button of document.querySelectorAll(".choices button")) {
      const on = button.dataset.language === language || button.dataset.choose === theme;
      button.setAttribute("aria-pressed", String(on));
    }
  }

  function clear(face) {
    face.classList.remove("waiting");
    face.querySelector("video")?.remove();
  }

  function enter(slide, moving) {
    turn += 1;
    const mine = turn;
    const face = chosen(slide);
    for (const other of document.querySelectorAll(".face")) if (other !== face) clear(other);
    const place = face.querySelector(".film");
    if (!place) return;
    clear(face);
    if (!moving || calm.matches || printed) return;
    face.classList.add("waiting");
    const stop = () => mine === turn && clear(face);
    const film = films.film(place.dataset.clip, () => mine === turn && face.classList.remove("waiting"), stop);
    place.append(film);
    film.play().catch(stop);
  }

  const deck = new Reveal({
    width: printed ? 1920 : "100%", // the pictures are fitted into the window: reveal.js would scale by whole percents
    height: printed ? 1080 : "100%",
    margin: 0,
    center: false,
    transition: "none",
    backgroundTransition: "none",
    controls: false,
    progress: false,
    hash: true,
    navigationMode: "linear",
    scrollActivationWidth: null, // on a phone too it is slides, swiped
    pdfSeparateFragments: false,
    plugins: [RevealNotes],
  });

  const languages = [...document.querySelectorAll(".choices")].map((choice) => choice.lang);
  const themes = root.dataset.themes.split(" ");
  const spoken = navigator.languages.map((language) => language.split("-")[0]);
  const liked = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
  choose(
    [asked.get("lang"), ...spoken].find((language) => languages.includes(language)) ?? languages[0],
    [asked.get("theme"), liked].find((theme) => themes.includes(theme)) ?? themes[0],
  );

  const switchTo = (language, theme) => {
    choose(language, theme);
    history.replaceState(null, "", `?lang=${language}&theme=${theme}${location.hash}`); // the speaker's view opens the same
    enter(deck.getCurrentSlide(), false);
  };
  const after = (all, one) => all[(all.indexOf(one) + 1) % all.length];
  deck.addKeyBinding({ keyCode: 76, key: "L", description: "Next language" }, () => switchTo(after(languages, root.lang), root.dataset.theme));
  deck.addKeyBinding({ keyCode: 84, key: "T", description: "Next theme" }, () => switchTo(root.lang, after(themes, root.dataset.theme)));
  for (const button of document.querySelectorAll(".choices button")) {
    button.addEventListener("click", () => {
      switchTo(button.dataset.language ?? root.lang, button.dataset.choose ?? root.dataset.theme);
    });
  }

  deck.on("ready", ({ currentSlide }) => enter(currentSlide, true));
  deck.on("slidechanged", ({ currentSlide, previousSlide }) => {
    enter(currentSlide, slides.indexOf(currentSlide) > slides.indexOf(previousSlide) || !previousSlide);
  });
  document.querySelector(".slides").addEventListener("click", () => deck.isOverview() || deck.next());

  let asleep = 0;
  const wake = () => {
    document.body.classList.add("awake");
    clearTimeout(asleep);
    asleep = setTimeout(() => document.body.classList.remove("awake"), 2500);
  };
  for (const event of ["mousemove", "touchstart"]) addEventListener(event, wake, { passive: true });

  deck.initialize();
})();
