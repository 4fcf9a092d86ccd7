// The timeline's figure is in the page, packed.
const place = document.getElementById("timeline");

async function figure() {
  const { data, layout, config, arrays } = await unpacked("figure");
  for (const trace of data)
    for (const key of ["x", "y", "customdata"])
      if (Number.isInteger(trace[key])) trace[key] = { dtype: "f4", bdata: arrays[trace[key]] };
  return { data, layout, config };
}

// A link may name the span to show, in s since the loads started: timeline.html#8.4-10.5
function show() {
  const span = /^#([0-9.]+)-([0-9.]+)$/.exec(location.hash);
  if (span) Plotly.relayout(place, { "xaxis.range": [Number(span[1]), Number(span[2])] });
}

figure().then(({ data, layout, config }) => Plotly.newPlot(place, data, layout, config)).then(() => {
  show();
  addEventListener("hashchange", show);
  place.dataset.drawn = "yes";
});
