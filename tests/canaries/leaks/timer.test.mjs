test('a timer that nobody clears', () => {
  setTimeout(() => undefined, 5_000);
});
