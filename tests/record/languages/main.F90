program main
  use alpha, only: fib, counter, awork => work
  use beta, only: bwork => work, more
  implicit none
  integer, external :: twice
  type(counter) :: c
  integer :: i, r, s
  r = 0
  s = 0
#if defined OMP
  !$omp parallel do reduction(+:s) num_threads(3)
  do i = 1, 9
    s = s + fib(i)
  end do
  !$omp end parallel do
#else
  s = fib(15)
#endif
  do i = 1, 7
    call c%add(i)
  end do
  call awork(25)
  do i = 1, 5
    call bwork(i, r)
  end do
  call more(3, r)
  print *, s, c%n, r, twice(21)
end program main
