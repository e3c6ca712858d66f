// What may be asked of a container: options that are refused before anything starts, in the platform's words.
const LARGEST_SIGNAL = 64;
const MOST_LABELS = 10;
const CONTROL = /[\u0000-\u001f\u007f]/;
const encoder = new TextEncoder();

export function checkSignal(number) {
  if (!Number.isInteger(number) || number < 1 || number > LARGEST_SIGNAL) throw new RangeError("Invalid signal number.");
}

export function checkStart(options, settings) {
  const { env, labels, image, instance, entrypoint, hardTimeout } = options;
  for (const name of Object.keys(env ?? {})) {
    if (name === "" || name.includes("=") || name.includes("\0")) {
      throw new TypeError(`Environment variable names cannot contain '=' or '\\0': ${name}`);
    }
  }
  const isText = (each) => typeof each === "string";
  if (entrypoint !== undefined && !(Array.isArray(entrypoint) && entrypoint.length && entrypoint.every(isText))) {
    throw new TypeError("entrypoint must be a non-empty array of strings.");
  }
  const named = Object.entries(labels ?? {});
  if (named.length > MOST_LABELS) throw new TypeError(`A container can have at most ${MOST_LABELS} labels.`);
  for (const [name, value] of named) {
    const bytes = (text) => encoder.encode(text).length;
    if (bytes(name) < 1 || bytes(name) > 16 || bytes(value) > 64 || CONTROL.test(name + value)) {
      throw new TypeError("Label names have 1 to 16 bytes, values at most 64, and neither has control characters.");
    }
  }
  if (options.containerSnapshot || options.directorySnapshots) {
    throw new Error("Snapshots of containers are not available on this machine: the emulator cannot make them.");
  }
  if (image !== undefined && !(isText(image) && /^\P{C}{1,4096}$/u.test(image))) {
    throw new TypeError("An image reference has 1 to 4096 printable characters.");
  }
  if (image === undefined && !settings.hasDefault) {
    throw new Error("Container.start() requires an image or container snapshot.");
  }
  if (instance !== undefined) checkInstance(instance, settings.sizes);
  // A number or a bigint, as the platform has it.
  if (hardTimeout !== undefined && !(hardTimeout > 0)) throw new RangeError("Hard timeout must be greater than 0");
}

function checkInstance(instance, { types, largest, leastVcpu, memoryPerVcpu }) {
  if (instance === null || typeof instance !== "object") {
    if (!Object.hasOwn(types, instance)) throw new TypeError("Invalid container instance type.");
    return;
  }
  const { vcpu, memoryMib, diskMb } = instance;
  if (!(Number.isFinite(vcpu) && vcpu > 0)) {
    throw new RangeError("Container resource vcpu must be a finite number greater than 0.");
  }
  const isType = (type) => type.vcpu === vcpu && type.memoryMib === memoryMib && type.diskMb === diskMb;
  if (Object.values(types).some(isType)) return;
  const within = (number, least, most) => Number.isInteger(number) && number >= least && number <= most;
  if (
    vcpu < leastVcpu ||
    vcpu > largest.vcpu ||
    !within(memoryMib, vcpu * memoryPerVcpu, largest.memoryMib) ||
    !within(diskMb, 1, largest.diskMb)
  ) {
    throw new RangeError(
      `A custom instance has ${leastVcpu} to ${largest.vcpu} vcpu, ${memoryPerVcpu} memoryMib per vcpu to ` +
        `${largest.memoryMib}, and 1 to ${largest.diskMb} diskMb, the last two in whole numbers.`,
    );
  }
}
