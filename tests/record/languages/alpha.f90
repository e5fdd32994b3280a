! Two modules with a procedure of one name, type-bound procedures, an entry, memory and threads.
module alpha
  implicit none
  type :: counter
    integer :: n = 0
  contains
    procedure :: add
  end type counter
contains
  recursive integer function fib(n) result(r)
    integer, intent(in) :: n
    if (n < 2) then
      r = n
    else
      r = fib(n - 1) + fib(n - 2)
    end if
  end function fib
  subroutine add(this, k)
    class(counter), intent(inout) :: this
    integer, intent(in) :: k
    this%n = this%n + k
  end subroutine add
  subroutine work(k)
    integer, intent(in) :: k
    integer :: i
    real, allocatable :: x(:)
    do i = 1, k
      allocate(x(i * 1000))
      x = real(i)
      if (sum(x) < 0) print *, "never"
      deallocate(x)
    end do
  end subroutine work
end module alpha

module beta
  implicit none
contains
  subroutine work(k, r)
    integer, intent(in) :: k
    integer, intent(inout) :: r
    r = r + k
    return
    entry more(k, r)
    r = r + 2 * k
  end subroutine work
end module beta
