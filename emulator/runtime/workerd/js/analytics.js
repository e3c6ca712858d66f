// An Analytics Engine binding: data points are taken and dropped.
export default function () {
  return { writeDataPoint() {} };
}
